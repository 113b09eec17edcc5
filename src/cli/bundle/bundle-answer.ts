import { Type } from "typebox";

const texts = Type.Array(Type.String());

/** A bundle of an answer. */
const BundleShape = Type.Object({
  name: Type.String(),
  arguments: texts,
  operations: Type.Array(
    Type.Object({
      relationships_write: texts,
      relationships_delete: texts,
      attributes_write: texts,
      attributes_delete: texts,
    }),
  ),
});

export const ReadBundleAnswer = Type.Object({ bundle: BundleShape });

export const ListBundlesAnswer = Type.Object({
  names: texts,
  continuous_token: Type.String(),
});
