-- Returns what the tokens of this database are authenticated with (`secret`), once it has been opened.
select token_secret as secret from installation
