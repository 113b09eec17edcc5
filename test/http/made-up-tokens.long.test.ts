import "./made-up-tokens.test.ts";
