import { testRandomLists } from "./random-lists.ts";

testRandomLists(25);
