-- With the maps of pemba.maps.yaml the tables say with whom documents are shared.
create table app.shares (
  document_id bigint not null references app.documents on delete cascade,
  user_id text not null references app.users,
  primary key (document_id, user_id)
);

alter table app.documents add column is_public boolean;
