import { StreamLanguage, type StreamParser } from "@codemirror/language";

/** Where the tokenizer stands between two words. */
interface WordState {
  isInComment: boolean;
  /** The keyword before the present word: the name that it declares. */
  declares: string;
}

const declaring = new Set(["entity", "relation", "attribute", "permission", "action", "rule"]);
const operators = new Set(["or", "and", "not"]);
const types = new Set(["boolean", "string", "integer", "double"]);

const parser: StreamParser<WordState> = {
  name: "pemba",
  startState: () => ({ isInComment: false, declares: "" }),
  copyState: (state) => ({ ...state }),
  token(stream, state) {
    if (state.isInComment || stream.match("/*")) {
      state.isInComment = !stream.match(/^.*?\*\//);
      if (state.isInComment) stream.skipToEnd();
      return "comment";
    }
    if (stream.eatSpace()) return null;
    if (stream.match(/^\/\/.*/)) return "comment";
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'(?:[^'\\]|\\.)*'?/)) return "string";
    if (stream.match(/^\d[\w.]*/)) return "number";
    if (stream.match(/^@\w+(?:#\w+)?/)) return "typeName";
    const word = stream.match(/^\w+/);
    if (typeof word === "boolean" || word === null) {
      stream.next();
      return null;
    }
    return tokenOf(word[0], state);
  },
  languageData: { commentTokens: { line: "//", block: { open: "/*", close: "*/" } } },
};

function tokenOf(word: string, state: WordState): string {
  const { declares } = state;
  state.declares = declaring.has(word) ? word : "";
  if (declaring.has(word)) return "keyword";
  if (operators.has(word)) return "operatorKeyword";
  if (declares === "entity" || declares === "rule") return "className";
  if (declares !== "") return "propertyName";
  return types.has(word) ? "atom" : "variableName";
}

/** The colours of the schema language. */
export const schemaLanguage = StreamLanguage.define(parser);
