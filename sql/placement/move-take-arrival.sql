-- The process $2 goes on with the move of tenant $1 to this database, if it is on its way.
update arrivals set mover = $2::uuid where id = $1::text
