"""The assessment screen as web pages: what people see, and what their browsers may send."""
