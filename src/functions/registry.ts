import { nearestSpellings } from '../lib/spelling.ts'
import { addressFunctions } from './addresses.ts'
import { aggregateFunctions } from './aggregates.ts'
import { associationFunctions } from './aggregates-association.ts'
import { collectionFunctions, digestFunctions } from './aggregates-collections.ts'
import { funnelFunctions } from './aggregates-funnel.ts'
import { histogramFunctions } from './aggregates-histogram.ts'
import { perKeyFunctions } from './aggregates-per-key.ts'
import { sequenceFunctions } from './aggregates-sequences.ts'
import { statisticsFunctions } from './aggregates-statistics.ts'
import { arithmeticFunctions } from './arithmetic.ts'
import { arrayLambdaFunctions } from './array-lambdas.ts'
import { arrayReduceFunctions, suffixedFunctions } from './array-reduce.ts'
import { arrayFunctions } from './arrays.ts'
import { bitFunctions, bitmapFunctions } from './bits.ts'
import { comparisonFunctions } from './comparison.ts'
import { conditionalFunctions } from './conditional.ts'
import { conversionFunctions } from './conversion.ts'
import { timeConversionFunctions } from './conversion-times.ts'
import { dateMakerFunctions } from './date-makers.ts'
import { datePartFunctions } from './date-parts.ts'
import { dateShiftFunctions } from './date-shifts.ts'
import { dateStartFunctions } from './date-starts.ts'
import { dateTextFunctions } from './date-texts.ts'
import { encodingFunctions } from './encodings.ts'
import { geoFunctions } from './geo.ts'
import { intervalFunctions } from './intervals.ts'
import { jsonFunctions } from './json.ts'
import { logicalFunctions } from './logical.ts'
import { mapFunctions } from './maps.ts'
import { mathFunctions } from './math.ts'
import { membershipFunctions } from './membership.ts'
import { namedCastFunctions } from './named-casts.ts'
import { neighbourFunctions } from './neighbours.ts'
import { nullFunctions } from './nulls.ts'
import { otherNames } from './other-names.ts'
import { productFunctions } from './product.ts'
import { readableFunctions } from './readable.ts'
import { roundingFunctions } from './rounding.ts'
import { type FunctionFamily, type FunctionRow, taking } from './row.ts'
import { cutFunctions } from './string-cuts.ts'
import { markupFunctions } from './string-markup.ts'
import { patternFunctions } from './string-patterns.ts'
import { replaceFunctions } from './string-replace.ts'
import { searchFunctions } from './string-search.ts'
import { splitFunctions } from './string-split.ts'
import { stringFunctions } from './strings.ts'
import { timeWindowFunctions } from './time-windows.ts'
import { tupleFunctions } from './tuples.ts'
import { urlFunctions } from './urls.ts'
import { vectorFunctions } from './vectors.ts'
import { tableFunctions, windowFunctions } from './windows.ts'

/** Every function of the language by family, in the order of the reference page. */
export const families: Readonly<Record<string, FunctionFamily>> = {
  Comparison: comparisonFunctions,
  Logic: taking('boolean', logicalFunctions),
  Conditions: conditionalFunctions,
  Null: nullFunctions,
  Arithmetic: taking('number', arithmeticFunctions),
  Conversion: conversionFunctions,
  'Conversion to times and text': timeConversionFunctions,
  'Casts by name of a type': namedCastFunctions,
  Text: taking('text', stringFunctions),
  'Parts of text': taking('text', cutFunctions),
  'Patterns in text': taking('text', patternFunctions),
  'Search in text': taking('text', searchFunctions),
  'Replacing in text': taking('text', replaceFunctions),
  'Splitting text': taking('text', splitFunctions),
  'Text of other forms': taking('text', markupFunctions),
  JSON: jsonFunctions,
  URLs: taking('text', urlFunctions),
  Addresses: addressFunctions,
  'Encodings and hashes': taking('text', encodingFunctions),
  Mathematics: taking('number', mathFunctions),
  Rounding: taking('number', roundingFunctions),
  Bits: taking('integer', bitFunctions),
  Bitmaps: bitmapFunctions,
  Vectors: vectorFunctions,
  Geography: taking('number', geoFunctions),
  'For people to read': readableFunctions,
  Product: productFunctions,
  'Parts of dates': taking(['time', 'text'], datePartFunctions),
  'Beginnings of dates': taking(['time', 'text'], dateStartFunctions),
  'Moving dates': dateShiftFunctions,
  'Making dates': dateMakerFunctions,
  'Dates as text': dateTextFunctions,
  Intervals: taking('integer', intervalFunctions),
  'Time windows': taking(['time', 'text'], timeWindowFunctions),
  Arrays: arrayFunctions,
  'Arrays and lambdas': arrayLambdaFunctions,
  Maps: mapFunctions,
  Tuples: tupleFunctions,
  Aggregates: aggregateFunctions,
  Statistics: statisticsFunctions,
  Association: associationFunctions,
  'Aggregates of arrays, maps and texts': collectionFunctions,
  'Sums and extremes of each key': perKeyFunctions,
  Histograms: histogramFunctions,
  'Funnels in statements': funnelFunctions,
  'Sequences and retention in statements': sequenceFunctions,
  Digests: digestFunctions,
  'Aggregates with suffixes': suffixedFunctions,
  'Aggregates over an array': arrayReduceFunctions,
  Membership: membershipFunctions,
  'Window functions': windowFunctions,
  'Rows before and behind': neighbourFunctions,
  'Table functions': tableFunctions,
}

export interface FoundFunction {
  /** As the registry spells it. */
  readonly name: string
  readonly row: FunctionRow
}

function byName(all: Readonly<Record<string, FunctionFamily>>): ReadonlyMap<string, FunctionRow> {
  const rows = new Map<string, FunctionRow>()
  for (const [family, functions] of Object.entries(all))
    for (const [name, row] of Object.entries(functions)) {
      if (rows.has(name)) throw new TypeError(`function ${name} of the family ${family} has a row already`)
      rows.set(name, row)
    }
  return rows
}

export const registry: ReadonlyMap<string, FunctionRow> = byName(families)

/** The exact spelling wins; otherwise the lower-cased one, where the row allows any. */
export function lookup(name: string): FoundFunction | undefined {
  const exact = registry.get(name)
  if (exact) return { name, row: exact }
  const lower = name.toLowerCase()
  const row = registry.get(lower)
  return row?.caseInsensitive ? { name: lower, row } : undefined
}

/** What someone who wrote an unknown name may have meant. */
export const candidates = (name: string): readonly string[] => otherNames[name.toLowerCase()] ?? nearestSpellings(name, registry.keys())
