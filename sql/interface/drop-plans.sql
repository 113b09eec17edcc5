drop schema if exists :"plans" cascade
