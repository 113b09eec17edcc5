/** Why a rule does not compile; thrown inside the compiler and answered by it, never seen outside. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  /** UTF-16 units from the start of the rule's text. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}
