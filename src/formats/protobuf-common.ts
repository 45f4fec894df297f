/**
 * Files that serializers expect everyone to have: of `google.type` (googleapis, Apache-2.0), and Confluent's decimal. Their
 * texts by the names by which they are imported; they import none themselves.
 */
export const COMMON_FILES: Readonly<Record<string, string>> = {
  'google/type/color.proto': ofGoogle(
    'message Color { float red = 1; float green = 2; float blue = 3; google.protobuf.FloatValue alpha = 4; }',
  ),
  'google/type/date.proto': ofGoogle('message Date { int32 year = 1; int32 month = 2; int32 day = 3; }'),
  'google/type/dayofweek.proto': ofGoogle(
    'enum DayOfWeek { DAY_OF_WEEK_UNSPECIFIED = 0; MONDAY = 1; TUESDAY = 2; WEDNESDAY = 3; THURSDAY = 4; FRIDAY = 5; SATURDAY = 6; SUNDAY = 7; }',
  ),
  'google/type/decimal.proto': ofGoogle('message Decimal { string value = 1; }'),
  'google/type/fraction.proto': ofGoogle('message Fraction { int64 numerator = 1; int64 denominator = 2; }'),
  'google/type/interval.proto': ofGoogle(
    'message Interval { google.protobuf.Timestamp start_time = 1; google.protobuf.Timestamp end_time = 2; }',
  ),
  'google/type/latlng.proto': ofGoogle('message LatLng { double latitude = 1; double longitude = 2; }'),
  'google/type/localized_text.proto': ofGoogle(
    'message LocalizedText { string text = 1; string language_code = 2; }',
  ),
  'google/type/money.proto': ofGoogle(
    'message Money { string currency_code = 1; int64 units = 2; int32 nanos = 3; }',
  ),
  'google/type/month.proto': ofGoogle(
    'enum Month { MONTH_UNSPECIFIED = 0; JANUARY = 1; FEBRUARY = 2; MARCH = 3; APRIL = 4; MAY = 5; JUNE = 6; JULY = 7; AUGUST = 8; SEPTEMBER = 9; OCTOBER = 10; NOVEMBER = 11; DECEMBER = 12; }',
  ),
  'google/type/timeofday.proto': ofGoogle(
    'message TimeOfDay { int32 hours = 1; int32 minutes = 2; int32 seconds = 3; int32 nanos = 4; }',
  ),
  'confluent/type/decimal.proto':
    'syntax = "proto3"; package confluent.type; message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }',
};

function ofGoogle(types: string): string {
  return `syntax = "proto3"; package google.type; ${types}`;
}
