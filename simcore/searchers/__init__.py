"""Built-in players that search; named in ``simcore.players``, made by the functions here."""
