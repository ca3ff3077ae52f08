// @ts-check
/**
 * Names people write for what catalogues commonly declare. Names come from the configuration, so this is a courtesy:
 * a name that is not here is shown as declared.
 * @typedef {import('./language.mjs').Language} Language
 * @type {Readonly<Record<string, Readonly<Record<Language, string>>>>}
 */
const NAMES = {
  goods: { en: 'Goods', ru: 'Вещи' },
  auto: { en: 'Cars', ru: 'Авто' },
  realty: { en: 'Homes', ru: 'Недвижимость' },
  jobs: { en: 'Jobs', ru: 'Работа' },
  packages: { en: 'Packages', ru: 'Пакеты' },
  all: { en: 'All', ru: 'Все' },
  area: { en: 'Area', ru: 'Площадь' },
  body: { en: 'Body', ru: 'Кузов' },
  brand: { en: 'Brand', ru: 'Бренд' },
  category: { en: 'Category', ru: 'Категория' },
  city: { en: 'City', ru: 'Город' },
  color: { en: 'Colour', ru: 'Цвет' },
  colour: { en: 'Colour', ru: 'Цвет' },
  company: { en: 'Company', ru: 'Компания' },
  condition: { en: 'Condition', ru: 'Состояние' },
  currency: { en: 'Currency', ru: 'Валюта' },
  date: { en: 'Date', ru: 'Дата' },
  deal: { en: 'Deal', ru: 'Сделка' },
  district: { en: 'District', ru: 'Район' },
  employment: { en: 'Employment', ru: 'Занятость' },
  experience: { en: 'Experience', ru: 'Опыт' },
  floor: { en: 'Floor', ru: 'Этаж' },
  gearbox: { en: 'Gearbox', ru: 'Коробка' },
  kind: { en: 'Kind', ru: 'Вид' },
  language: { en: 'Language', ru: 'Язык' },
  make: { en: 'Make', ru: 'Марка' },
  mileage: { en: 'Mileage', ru: 'Пробег' },
  model: { en: 'Model', ru: 'Модель' },
  north: { en: 'North', ru: 'Север' },
  price: { en: 'Price', ru: 'Цена' },
  priority: { en: 'Priority', ru: 'Приоритет' },
  rating: { en: 'Rating', ru: 'Оценка' },
  region: { en: 'Region', ru: 'Регион' },
  rooms: { en: 'Rooms', ru: 'Комнаты' },
  salary: { en: 'Salary', ru: 'Зарплата' },
  schedule: { en: 'Schedule', ru: 'График' },
  section: { en: 'Section', ru: 'Раздел' },
  seller: { en: 'Seller', ru: 'Продавец' },
  size: { en: 'Size', ru: 'Размер' },
  south: { en: 'South', ru: 'Юг' },
  type: { en: 'Type', ru: 'Тип' },
  variant: { en: 'Variant', ru: 'Вариант' },
  year: { en: 'Year', ru: 'Год' },
};

/**
 * Attributes that mean something else in one domain: what a vacancy costs is what it pays.
 * @type {Readonly<Record<string, typeof NAMES>>}
 */
const NAMES_IN = { jobs: { price: { en: 'Pay', ru: 'Зарплата' } } };

/**
 * @param {Pick<import('../../../../search/domain.ts').Attribute, 'name' | 'label'>} attribute
 * @param {string} domain
 * @param {Language} language
 */
export function attributeName({ name, label }, domain, language) {
  if (label !== undefined) return label;
  const here = Object.hasOwn(NAMES_IN, domain) ? NAMES_IN[domain] : undefined;
  const known = here !== undefined && Object.hasOwn(here, name) ? here[name] : undefined;
  return known?.[language] ?? nameFor(name, language);
}

/**
 * @param {string} name
 * @param {Language} language
 */
export function nameFor(name, language) {
  const known = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
  return known?.[language] ?? name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');
}
