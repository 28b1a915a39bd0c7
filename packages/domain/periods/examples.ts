export const monthExamples = {
  month: { summary: 'A month', value: { month: '2020-01' } },
  next: { summary: 'The one after it', value: { month: '2020-02' } },
}
