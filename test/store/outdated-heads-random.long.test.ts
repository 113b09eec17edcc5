import "./outdated-heads-random.test.ts";
