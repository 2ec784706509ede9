/** Why a road is closed, by code: the sentence that `explain` shows. */
const reasons = {
  'sql-asked': 'the request asks for SQL',
  'no-lists': 'the engine has no lists of events',
  'lists-too-large': 'the lists of events do not fit into memory',
  'lists-loading': 'the lists of events are being loaded',
  'of-viewer': 'a viewer sees some of the events only',
  'few-events': 'a statement reads so few events as fast',
  'engine-refused': 'the engine refused a condition or a value',
  'several-owners': 'a condition or a value combines fields of the event with fields of other tables',
  'not-stable': 'a condition or a value is not deterministic',
  'engine-without-lists': 'the engine does not fold lists of events',
  'no-fold': (what: string) => `the lists have no fold for ${what}`,
  'actors-by-expression': 'the actors are values of an expression',
  'no-uuids': 'the lists have no uuids of events',
  'many-values': 'the breakdown has too many values',
  'many-texts': 'the events have too many distinct texts',
  'many-actors': 'a statement lists this many actors faster',
  'funnel-in-engine': 'the engine folds the funnel',
  'sessions-near-period': 'a filter on sessions reads only the sessions near the period',
  'sessions-without-id': 'some events have no session id, and only a statement computes their sessions',
  'sessions-made': 'only a statement computes the sessions of events without a session id',
  'expression-not-a-call': 'the expression is not a single function call',
  'expression-without-fold': (name: string) => `the lists do not support this use of ${name}`,
  'expression-of-nothing': 'the expression has no aggregate',
  'statement-without-fold': (what: string) => `the lists have no fold for ${what} in a statement`,
  'attached-table': 'the lists have no columns of tables beside the events',
  'expression-too-large': 'the expression has too many values',
} as const

export type RefusalCode = keyof typeof reasons

/** A road that is closed. */
export class Refusal {
  constructor(
    readonly code: RefusalCode,
    readonly reason: string,
  ) {}
}

export function refuse(code: RefusalCode, what = ''): Refusal {
  const reason = reasons[code]
  return new Refusal(code, typeof reason === 'string' ? reason : reason(what))
}
