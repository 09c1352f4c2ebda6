"""Documents, queries and judgments: schemas, readers of outside formats, HTML to text."""
