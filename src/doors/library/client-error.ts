/** What a call of the client was refused with: the fields of an error of the HTTP API. */
export class ClientError extends Error {
  override readonly name = 'ClientError'
  /** The HTTP status that a request would get: 404 for what does not exist. */
  readonly status: number
  readonly code: string
  readonly detail: string
  /** The field at fault. */
  readonly attr: string | null

  /** @internal */
  constructor(status: number, { code, detail, attr }: { readonly code: string; readonly detail: string; readonly attr: string | null }) {
    super(detail)
    this.status = status
    this.code = code
    this.detail = detail
    this.attr = attr
  }
}
