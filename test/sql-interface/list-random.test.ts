import { testRandomLists } from "./random-lists.ts";

testRandomLists(6);
