import "./changes-random.test.ts";
