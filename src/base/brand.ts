declare const brand: unique symbol;

/** A value that only the one function which checks it can make: a plain `T` is not assignable to it. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
