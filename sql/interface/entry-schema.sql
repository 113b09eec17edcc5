create schema if not exists :"entry"
