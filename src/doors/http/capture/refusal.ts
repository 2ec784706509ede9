// Why a capture request is refused: one row per reason. Clients read the status, and `detail` when the body is JSON.

interface Row {
  readonly status: number
  readonly type: 'validation_error' | 'authentication_error' | 'client_error' | 'server_error' | 'throttled_error'
  readonly code: string
}

const rows = {
  'no-data': { status: 400, type: 'validation_error', code: 'no_data' },
  'invalid-payload': { status: 400, type: 'validation_error', code: 'invalid_payload' },
  'missing-token': { status: 401, type: 'authentication_error', code: 'missing_api_key' },
  'token-empty': { status: 401, type: 'authentication_error', code: 'empty' },
  'token-too-long': { status: 401, type: 'authentication_error', code: 'too_long' },
  'token-not-ascii': { status: 401, type: 'authentication_error', code: 'not_ascii' },
  'token-not-string': { status: 401, type: 'authentication_error', code: 'not_string' },
  'token-personal': { status: 401, type: 'authentication_error', code: 'personal_api_key' },
  'two-tokens': { status: 401, type: 'authentication_error', code: 'multiple_tokens' },
  'unknown-project': { status: 401, type: 'authentication_error', code: 'invalid_api_key' },
  // of those who ask for flags the old way
  'malformed-data': { status: 400, type: 'validation_error', code: 'malformed_data' },
  'missing-distinct-id': { status: 400, type: 'validation_error', code: 'missing_distinct_id' },
  'import-over': { status: 409, type: 'client_error', code: 'import_over' },
  'over-quota': { status: 429, type: 'throttled_error', code: 'quota_limited' },
  'too-large': { status: 413, type: 'client_error', code: 'request_too_large' },
} as const satisfies Record<string, Row>

export type RefusalReason = keyof typeof rows

/** The name in the answer and in the metrics. */
export const codeOf = (reason: RefusalReason): string => rows[reason].code

export class CaptureRefusal extends Error {
  override readonly name = 'CaptureRefusal'

  constructor(
    readonly reason: RefusalReason,
    readonly detail: string,
    /** The key of the request, if it was parsed. */
    readonly token: string | null = null,
  ) {
    super(detail)
  }

  get status(): number {
    return rows[this.reason].status
  }

  /** The error body that every route answers with. */
  get body(): { type: string; code: string; detail: string; attr: null } {
    const { type, code } = rows[this.reason]
    return { type, code, detail: this.detail, attr: null }
  }
}

export const unknownProject = (token: string): CaptureRefusal =>
  new CaptureRefusal('unknown-project', 'No project has this API key. You can find it in the settings of your project.', token)
