-- Whether a plan function is still in use.
create index if not exists questions_by_plan on :"plans".questions using gin (plans jsonb_path_ops)
