/** A request to an identity provider. Refuses addresses that this server does not connect to, and follows no redirects: they would take secrets elsewhere. */
export type Fetching = (
  request: {
    readonly url: string
    readonly method: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: Uint8Array | null
  },
  signal: AbortSignal,
) => Promise<{ readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: Uint8Array }>
