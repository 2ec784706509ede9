/** An error of a statement with its SQLSTATE. `offset` is a place in the text of the statement, in UTF-16 units. */
export class SqlError extends Error {
  override readonly name = 'SqlError'

  constructor(
    readonly state: string,
    message: string,
    readonly more: { readonly offset?: number | undefined; readonly hint?: string | undefined; readonly detail?: string | undefined } = {},
  ) {
    super(message)
  }
}

export const syntaxError = (message: string, offset: number): SqlError => new SqlError('42601', message, { offset })
export const unsupported = (what: string, offset?: number): SqlError => new SqlError('0A000', `${what} is not supported`, { offset })
export const readOnly = (command: string, offset?: number): SqlError =>
  new SqlError('25006', `cannot execute ${command} in a read-only transaction`, {
    offset,
    hint: 'Waymark answers questions by this protocol and changes nothing. Events are sent over HTTP.',
  })
