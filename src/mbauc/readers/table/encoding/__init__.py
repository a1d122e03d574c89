"""How the columns of a table become numbers."""
