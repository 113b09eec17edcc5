-- Has the server end this transaction soon after the process that began it is gone, where its system can tell: what
-- waits for a lock would else go on waiting, and keep others from the table meanwhile. Returns nothing.
do $$
begin
  perform set_config('client_connection_check_interval', '1s', true);
exception
  when invalid_parameter_value then null;
end
$$
