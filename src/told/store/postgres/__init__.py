"""The PostgreSQL stores of the team server; every statement names the team."""
