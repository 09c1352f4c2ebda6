"""The assessment screen: where people judge pairs of a query and a document."""
