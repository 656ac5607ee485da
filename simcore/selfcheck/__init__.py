"""Checks of an installed simcore on the machine it runs on."""
