-- Up Migration

-- What tokens are authenticated with where the configuration gives no key: it is here that all
-- instances find the same one. Drawn once, from the generator of the server that is meant for secrets.
alter table installation
  add column token_secret text collate "C" not null
  default gen_random_uuid()::text || gen_random_uuid()::text;

-- Down Migration

alter table installation drop column token_secret;
