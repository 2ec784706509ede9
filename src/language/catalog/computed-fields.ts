import { call, equals, literal } from '../ast/build.ts'
import type { Expr } from '../ast/nodes.ts'
import { botFunctions } from './bots.ts'
import { channelExpression, channelLookups } from './channels.ts'

// Fields that no table stores: they are computed from the properties of an event or a person, or from a table that a person leads to.

/** `linked`: a field of a table that the row leads to. */
export type ComputedField = (property: (name: string) => Expr, linked: (...chain: readonly string[]) => Expr) => Expr

const agentField =
  (name: string): ComputedField =>
  (property) =>
    botFunctions[name]!.expand([property('$raw_user_agent')])

export const fieldsOfEvents: Readonly<Record<string, ComputedField>> = {
  $virt_is_bot: agentField('isLikelyBot'),
  $virt_traffic_type: agentField('getTrafficType'),
  $virt_traffic_category: agentField('getTrafficCategory'),
  $virt_bot_name: agentField('getBotName'),
  $virt_bot_operator: agentField('getBotOperator'),
}

/** Of a person who has paid, computed from events: it changes without a change of the person. */
export const personRevenue = '$virt_revenue'

/** Of the first visit of a person, and of what the person has paid. */
export const fieldsOfPersons: Readonly<Record<string, ComputedField>> = {
  $virt_initial_channel_type: (property) => {
    const text = (name: string) => call('nullIf', call('toString', property(`$initial_${name}`)), literal(''))
    return channelExpression({
      campaign: text('utm_campaign'),
      medium: text('utm_medium'),
      source: text('utm_source'),
      referringDomain: text('referring_domain'),
      gclid: text('gclid'),
      gadSource: text('gad_source'),
      fbclid: text('fbclid'),
    })
  },
  [personRevenue]: (_, linked) => call('ifNull', linked('@revenue', 'revenue'), literal(0)),
  $virt_initial_referring_domain_type: (property) => {
    const domain = call('toString', property('$initial_referring_domain'))
    return call('if', equals(domain, literal('$direct')), literal('$direct'), channelLookups.lookupDomainType!.expand([domain]))
  },
}

export const computedFields: Readonly<Record<string, ComputedField>> = { ...fieldsOfEvents, ...fieldsOfPersons }
