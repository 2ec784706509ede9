import { DestinationError } from '../destinations/destination.ts'

const sentences: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection. Check the host and the port, and that the server is running',
  ENOTFOUND: 'has an unknown host name. Check the host',
  EAI_AGAIN: 'has a host name that cannot be resolved at the moment',
  EHOSTUNREACH: 'cannot be reached from this server',
  ENETUNREACH: 'cannot be reached from this server',
  ETIMEDOUT: 'did not answer in time',
  TimeoutError: 'did not answer in time',
  ECONNRESET: 'closed the connection before it had answered',
  EPIPE: 'closed the connection before it had answered',
  ERR_STREAM_PREMATURE_CLOSE: 'closed the connection before it had answered',
  UND_ERR_SOCKET: 'closed the connection before it had answered',
}
const certificate = /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_)/

const codesOf = (error: unknown): string[] => {
  const { code, name, cause, errors } = error as { code?: unknown; name?: unknown; cause?: unknown; errors?: readonly unknown[] }
  const inner = [...(Array.isArray(errors) ? errors : []), ...(cause === undefined ? [] : [cause])]
  return [...[code, name].filter((one) => typeof one === 'string'), ...inner.flatMap(codesOf)] as string[]
}

/** A failed connection in words for the user; null for any other error. `what`: the server, such as `PostgreSQL at db:5432`. */
export function networkFailure(error: unknown, what: string): DestinationError | null {
  if (!(error instanceof Error)) return null
  const codes = codesOf(error)
  const known = codes.find((code) => code in sentences)
  if (known) return new DestinationError(`${what} ${sentences[known]}.`, { isRetryable: true, cause: error })
  if (!codes.some((code) => certificate.test(code))) return null
  const message = `${what} has a certificate that cannot be verified (${error.message}). Use a host name that the certificate covers.`
  return new DestinationError(message, { isRetryable: false, cause: error })
}
