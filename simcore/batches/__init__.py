"""Many deals: configuration, chunks over threads, tables in Parquet, summaries."""
