"""One folder a judge; a folder dropped in here is a judge, with no other edit."""
