/** Json goes as text with the cast `::text::jsonb`, an array as `arrayLiteral` with `::text[]`. */
export type Value = string | number | boolean | null;
