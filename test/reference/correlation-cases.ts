import fc from 'fast-check'
import type { ReferenceCorrelation } from './correlation.ts'
import { asQuery, compareFilterOf, comparisonArb, funnelArb } from './funnel-cases.ts'

// Correlations along their axes, over the events and funnels of funnel-cases.ts.

export const correlationArb: fc.Arbitrary<ReferenceCorrelation> = fc
  .record({
    type: fc.constantFrom<ReferenceCorrelation['type']>(
      'properties',
      'properties',
      'event_with_properties',
      'event_with_properties',
      'events',
    ),
    funnel: funnelArb.filter(({ actor }) => actor !== 'property'),
    compared: fc.option(comparisonArb, { freq: 2 }),
    step: fc.constantFrom(1, 1, 2),
    excludedEvents: fc.constantFrom<readonly string[]>([], [], ['noise']),
    names: fc.constantFrom<readonly string[]>(['plan', 'n', 'gone'], ['plan'], ['$all'], ['$all']),
    excludedNames: fc.constantFrom<readonly string[]>([], ['n']),
    events: fc.constantFrom<readonly string[]>(['noise'], ['noise', 'x', 'c']),
    excludedProperties: fc.constantFrom<readonly string[]>([], ['w']),
  })
  .map(({ compared, ...drawn }) => ({
    ...drawn,
    funnel: { ...drawn.funnel, optional: [], viz: 'steps' as const, breakdown: [], ...(compared && { range: compared.previous }) },
    comparison: compared,
  }))

export const correlationAxes = ({ type, funnel, comparison, step, names }: ReferenceCorrelation): string[] => [
  type,
  funnel.order,
  funnel.actor,
  `from step ${step}`,
  comparison ? 'previous period' : 'current period',
  type === 'properties' ? `names ${names.join(' ')}` : 'no names',
]

/** The query as a caller writes it. */
export const asCorrelation = (query: ReferenceCorrelation) => ({
  kind: 'FunnelCorrelationQuery',
  source: {
    kind: 'FunnelsActorsQuery',
    funnelStep: query.step,
    ...(query.comparison
      ? {
          source: { ...asQuery({ ...query.funnel, range: query.comparison.current }), compareFilter: compareFilterOf(query.comparison) },
          compare: 'previous',
        }
      : { source: asQuery(query.funnel) }),
  },
  funnelCorrelationType: query.type,
  funnelCorrelationExcludeEventNames: query.excludedEvents,
  funnelCorrelationNames: query.names,
  funnelCorrelationExcludeNames: query.excludedNames,
  funnelCorrelationEventNames: query.events,
  funnelCorrelationEventExcludePropertyNames: query.excludedProperties,
})
