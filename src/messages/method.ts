import type { DescMessage, DescMethod, MessageInitShape, MessageShape } from "@bufbuild/protobuf";

import type { Credential } from "../auth/credential.ts";

/** The part of a call that a method can use besides the request. */
export interface CallContext {
  /** Aborted when the client has left or its deadline has passed. */
  readonly signal: AbortSignal;
  /** The rights of the token of the call. */
  readonly credential: Credential;
}

/** Reads the request of a call, and writes its answers in the form `T` of a transport. */
export interface MessageCodec<T> {
  /** Fails with VALIDATION, and if the token is not for the tenant of the request. */
  read<I extends DescMessage>(
    method: DescMethod & { readonly input: I },
  ): MessageShape<I> | Promise<MessageShape<I>>;
  write<O extends DescMessage>(schema: O, message: MessageInitShape<O>): T | Promise<T>;
}

/** A method whose requests and answers are messages, for any transport. */
export type MessageMethod<C = CallContext> = UnaryMethod<C> | StreamingMethod<C>;

export interface UnaryMethod<C = CallContext> {
  readonly kind: "unary";
  readonly method: DescMethod;
  /** Resolves to the answer. */
  readonly answer: <T>(codec: MessageCodec<T>, context: C) => Promise<T>;
}

export interface StreamingMethod<C = CallContext> {
  readonly kind: "server_streaming";
  readonly method: DescMethod;
  /**
   * Resolves to the answers when there is no more reason to refuse the call. They come in groups, of which each is
   * made when it is asked for. When the signal of the context is aborted, the answers should stop waiting.
   */
  readonly answers: <T>(codec: MessageCodec<T>, context: C) => Promise<AsyncIterable<readonly T[]>>;
}

/** A method with the types of its messages. */
export type TypedMethod<I extends DescMessage, O extends DescMessage> = DescMethod & {
  readonly input: I;
  readonly output: O;
};

/** A method with one answer. */
export function unary<I extends DescMessage, O extends DescMessage, C = CallContext>(
  method: TypedMethod<I, O> & { readonly methodKind: "unary" },
  answer: (request: MessageShape<I>, context: C) => Promise<MessageInitShape<O>>,
): UnaryMethod<C> {
  return {
    method,
    kind: "unary",
    answer: async (codec, context) => {
      const request = await codec.read(method);
      return codec.write(method.output, await answer(request, context));
    },
  };
}

/** A method with a stream of answers, which come in groups of few enough to be written at once. */
export function serverStreaming<I extends DescMessage, O extends DescMessage, C = CallContext>(
  method: TypedMethod<I, O> & { readonly methodKind: "server_streaming" },
  open: (
    request: MessageShape<I>,
    context: C,
  ) => Promise<AsyncIterable<readonly MessageInitShape<O>[]>>,
): StreamingMethod<C> {
  return {
    method,
    kind: "server_streaming",
    answers: async (codec, context) => {
      const groups = await open(await codec.read(method), context);
      return written(groups, (message) => codec.write(method.output, message));
    },
  };
}

async function* written<M, T>(
  groups: AsyncIterable<readonly M[]>,
  write: (message: M) => T | Promise<T>,
): AsyncGenerator<readonly T[]> {
  for await (const messages of groups) {
    const forms: T[] = [];
    for (const message of messages) {
      const form = write(message);
      forms.push(form instanceof Promise ? await form : form);
    }
    yield forms;
  }
}
