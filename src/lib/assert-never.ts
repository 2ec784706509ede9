/** Ends an exhaustive switch: a case left out does not compile. */
export function assertNever(value: never): never {
  throw new TypeError(`unexpected value: ${JSON.stringify(value)}`)
}
