/** Numbers that answers of charts have beside their `results`. Whatever shows an answer field by field shows these too. */
export const chartFields = [
  'mean',
  'boxplot_data',
  'resolved_date_range',
  'resolved_compare_date_range',
  'compare_results',
  'total_median_conversion_time',
  'unconnected',
] as const
