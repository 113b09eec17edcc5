import { Type } from "typebox";

import type { ErrorDetail } from "../../base/error.ts";

const detailAnswer = Type.Unsafe<ErrorDetail>(
  Type.Object({
    field: Type.Optional(
      Type.String({ description: "The JSON path in the request, such as `tuples[3].relation`." }),
    ),
    line: Type.Optional(Type.Integer({ minimum: 1, description: "In the text of a schema." })),
    column: Type.Optional(Type.Integer({ minimum: 1, description: "In the text of a schema." })),
    message: Type.String(),
  }),
);

/** The body of every error answer. */
export const errorAnswer = Type.Object(
  {
    code: Type.Integer({
      minimum: 1,
      maximum: 16,
      description: "The number of the gRPC status that is the same.",
    }),
    message: Type.String({
      pattern: "^ERROR_CODE_[A-Z_]+: ",
      description: "Begins with the name of the code, which tells errors apart.",
    }),
    details: Type.Unsafe<readonly ErrorDetail[]>(
      Type.Array(detailAnswer, { description: "Each place that is wrong, where that is known." }),
    ),
  },
  { about: { component: "Error" } },
);

/** The same in a stream, where it replaces an item. */
export const streamErrorAnswer = Type.Object(
  { error: errorAnswer },
  { about: { component: "StreamError" } },
);
