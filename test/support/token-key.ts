import { tokenMac } from "../../src/base/token-mac.ts";

/** What the stores of the tests authenticate their tokens with. */
export const tokenKey = "the-key-of-the-tests";

export const snapMac = tokenMac(tokenKey, "snap");
