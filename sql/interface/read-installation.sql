-- Returns one row: `version` of the installed objects, and `settings`, what they were made with.
select version, settings from :"plans".installation
