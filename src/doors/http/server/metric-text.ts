// Prometheus' text format.

export type MetricType = 'counter' | 'gauge' | 'histogram'

export interface Sample {
  readonly labels?: Readonly<Record<string, string | number>>
  readonly value: number
  /** Of a histogram: what it counts, such as `_bucket`. */
  readonly suffix?: string
}

export interface Metric {
  readonly name: string
  readonly type: MetricType
  readonly help: string
  readonly samples: readonly Sample[]
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
const numberText = (value: number): string =>
  value === Number.POSITIVE_INFINITY ? '+Inf' : value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value)

const labelsText = (labels: NonNullable<Sample['labels']>): string => {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(String(value))}"`)
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}

export const one = (name: string, type: MetricType, help: string, value: number): Metric => ({ name, type, help, samples: [{ value }] })
export const many = (name: string, type: MetricType, help: string, samples: readonly Sample[]): Metric => ({ name, type, help, samples })

export const metricText = ({ name, type, help, samples }: Metric): string =>
  [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(({ labels = {}, value, suffix = '' }) => `${name}${suffix}${labelsText(labels)} ${numberText(value)}`),
  ].join('\n')

export interface Timed {
  readonly bounds: readonly number[]
  readonly buckets: readonly number[]
  readonly seconds: number
  readonly count: number
}

/** The samples of one histogram. */
export const histogramOf = (labels: NonNullable<Sample['labels']>, { bounds, buckets, seconds, count }: Timed): readonly Sample[] => [
  ...bounds.map((le, i) => ({ suffix: '_bucket', labels: { ...labels, le }, value: buckets[i]! })),
  { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: count },
  { suffix: '_sum', labels, value: seconds },
  { suffix: '_count', labels, value: count },
]
