/** Why a road is closed, by code: the sentence that `explain` shows. */
const reasons = {
  'sql-asked': 'the request asks for it',
  'no-lists': 'the engine has no lists of events',
  'lists-too-large': 'the lists of events do not fit into memory',
  'lists-loading': 'the lists of events are being loaded',
  'engine-refused': 'the engine refused a condition or a value',
  'several-owners': 'a condition or a value compares what belongs to the event with what belongs to others',
  'not-stable': 'a condition or a value is another one each time',
  'engine-without-lists': 'the engine does not fold lists of events',
  'no-fold': (what: string) => `the lists have no fold for ${what}`,
  'actors-by-expression': 'the actors are an expression',
  'no-uuids': 'the lists have no uuids of events',
  'many-values': 'the breakdown has too many values',
  'many-texts': 'the events have too many different texts',
  'many-actors': 'a statement lists so many actors faster',
  'funnel-in-engine': 'the engine folds the funnel',
  'sessions-near-period': 'a filter on sessions looks at those near the period only',
  'sessions-without-id': 'there are events without a session id, whose sessions are made by a statement',
  'sessions-made': 'sessions of events without an id are made by a statement',
  'expression-not-a-call': 'the expression is more than a call',
  'expression-without-fold': (name: string) => `the expression uses ${name} in a way that the lists do not count`,
  'expression-of-nothing': 'the expression counts nothing',
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
