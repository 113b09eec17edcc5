-- Tells the schema apart from one of others. It stays if `disable` leaves what others put there.
comment on schema :"entry" is 'SQL interface of Pemba'
