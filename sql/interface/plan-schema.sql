create schema if not exists :"plans"
