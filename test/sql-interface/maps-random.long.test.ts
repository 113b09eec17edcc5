import "./maps-random.test.ts";
