import { lines } from '../ad.ts';

interface Profession {
  readonly category: string;
  /** In the form of «требуется …». */
  readonly name: string;
  readonly english: string;
  /** Thousand roubles per month in an average city. */
  readonly pay: readonly [from: number, to: number];
  readonly schedules: readonly string[];
  readonly experience: readonly string[];
  /** Duties, in the form of «Обязанности: …». */
  readonly duties: readonly string[];
  readonly dutiesEn: string;
  readonly weight: number;
  /** The kind of employer: «сеть кофеен». */
  readonly employers: readonly string[];
}

const SCHEDULES: Readonly<Record<string, string>> = {
  п: 'полный день',
  с: 'сменный график',
  г: 'свободный график',
  у: 'удалённая работа',
  в: 'вахта',
  ч: 'частичная занятость',
};
/** Required experience, from none. */
const EXPERIENCE = ['без опыта', 'от 1 года', 'от 3 лет', 'от 5 лет'];

/**
 * # category | employers
 * name / English | thousand roubles | schedules | experience, from–to | duties | duties in English | weight
 */
const TABLE = `
  # доставка и курьеры | служба доставки, сервис доставки продуктов, интернет-магазин
  курьер / courier | 45–110 | с, г, ч | 0–0 | доставка заказов клиентам, приём оплаты, работа с приложением | delivering orders to customers | 14
  пеший курьер / walking courier | 40–85 | г, ч | 0–0 | доставка заказов по своему району, вежливое общение с клиентами | delivering orders on foot in your district | 6
  автокурьер / courier with a car | 70–140 | г, с | 0–1 | доставка посылок на своём автомобиле, соблюдение маршрута | parcel delivery with your own car | 6
  велокурьер / bicycle courier | 50–110 | г, ч, с | 0–0 | доставка еды на велосипеде, работа с термосумкой | food delivery by bicycle | 4
  # доставка и курьеры | почтовое отделение, курьерская служба
  почтальон / postman | 28–45 | п | 0–0 | доставка писем и газет, выдача посылок | delivering letters and papers | 2
  # водители | транспортная компания, строительная компания, логистический центр
  водитель категории B / driver, category B | 55–100 | п, с | 1–2 | перевозка грузов по городу, содержание автомобиля в порядке | driving goods around the city | 9
  водитель категории C / truck driver, category C | 70–130 | п, с | 1–3 | доставка стройматериалов, контроль погрузки | delivering building materials | 6
  водитель категории E / truck driver, category E | 110–210 | в, с | 2–3 | междугородние рейсы, оформление путевых листов | long haul trips | 6
  # водители | таксопарк
  водитель такси / taxi driver | 70–150 | г, с | 1–2 | перевозка пассажиров, чистый салон | driving passengers | 8
  # водители | автобусный парк
  водитель автобуса / bus driver | 65–110 | с | 2–3 | работа на городском маршруте, соблюдение расписания | driving a city bus route | 4
  # водители | транспортная компания, оптовая база, логистический центр
  водитель-экспедитор / delivery driver | 65–115 | п, с | 1–2 | доставка товара по точкам, сдача документов | delivering goods to shops | 5
  водитель погрузчика / forklift driver | 65–110 | с, в | 1–2 | погрузка и разгрузка, перемещение паллет | loading and moving pallets | 4
  # продажи | сеть супермаркетов, магазин электроники, магазин одежды, салон связи, строительный гипермаркет
  продавец-кассир / shop assistant | 38–65 | с | 0–0 | работа на кассе, выкладка товара, проверка сроков годности | working at the till and filling shelves | 10
  продавец-консультант / sales assistant | 42–80 | с | 0–1 | консультация покупателей, оформление продажи | advising customers | 8
  менеджер по продажам / sales manager | 60–150 | п, у | 1–2 | поиск клиентов, переговоры, ведение сделок | finding clients and closing deals | 8
  торговый представитель / sales representative | 60–110 | п | 1–2 | объезд торговых точек, приём заказов | visiting shops and taking orders | 4
  администратор магазина / store supervisor | 55–90 | с | 1–2 | контроль работы смены, приёмка товара | running a shift, taking in goods | 4
  мерчендайзер / merchandiser | 40–65 | п, ч | 0–1 | выкладка товара, фотоотчёты | arranging goods on shelves | 3
  # рестораны и кафе | сеть кофеен, ресторан, столовая, пекарня, кафе
  повар / cook | 50–95 | с | 1–2 | приготовление блюд по технологическим картам, заготовки | cooking by recipe cards | 8
  официант / waiter | 40–90 | с, ч | 0–1 | обслуживание гостей, приём заказов | serving guests | 7
  бариста / barista | 42–75 | с, ч | 0–1 | приготовление кофе, общение с гостями | making coffee | 6
  пекарь / baker | 48–80 | с | 0–2 | выпечка хлеба и пирогов, замес теста | baking bread and pies | 4
  пиццамейкер / pizza maker | 45–75 | с | 0–1 | приготовление пиццы, порядок на рабочем месте | making pizza | 3
  посудомойщик / dishwasher | 32–50 | с, ч | 0–0 | мытьё посуды и инвентаря, уборка кухни | washing dishes | 3
  # строительство | строительная компания, бригада, застройщик, ремонтная компания
  каменщик / bricklayer | 80–150 | в, п | 1–3 | кирпичная кладка, кладка блоков | laying brick and blocks | 4
  электромонтажник / electrician | 75–140 | в, п | 1–3 | прокладка кабеля, сборка щитов | laying cable and wiring panels | 5
  сварщик / welder | 85–170 | в, с | 1–3 | сварка металлоконструкций, чтение чертежей | welding metal structures | 6
  маляр-штукатур / painter and plasterer | 70–130 | в, п | 1–2 | отделка помещений, шпаклёвка, покраска | finishing walls and ceilings | 5
  разнорабочий / labourer | 50–90 | в, с, ч | 0–0 | подсобные работы на объекте, уборка территории | general work on a building site | 8
  прораб / site foreman | 100–190 | п, в | 2–3 | руководство бригадой, контроль сроков и качества | leading a crew, keeping dates | 3
  монтажник окон / window fitter | 70–140 | п, г | 0–2 | установка окон и балконов, замеры | fitting windows and balconies | 3
  # склад и логистика | склад маркетплейса, логистический центр, оптовая база
  кладовщик / storekeeper | 50–85 | с, п | 0–1 | приёмка и отгрузка товара, инвентаризация | receiving and shipping goods | 6
  комплектовщик / order picker | 55–95 | с, в | 0–0 | сборка заказов по заданию, упаковка | picking and packing orders | 8
  грузчик / loader | 50–90 | с, ч, в | 0–0 | погрузка и разгрузка машин, переноска товара | loading and unloading trucks | 7
  логист / logistics specialist | 60–110 | п, у | 1–2 | планирование маршрутов, работа с перевозчиками | planning routes | 4
  # склад и логистика | пункт выдачи заказов
  оператор ПВЗ / pick-up point operator | 38–60 | с | 0–0 | выдача заказов, приём возвратов | handing out orders | 6
  # IT | продуктовая команда, банк, студия разработки, маркетплейс, стартап
  frontend-разработчик / frontend developer | 110–290 | у, п | 1–3 | разработка интерфейсов на TypeScript и React, ревью кода | building interfaces in TypeScript and React | 5
  backend-разработчик / backend developer | 120–310 | у, п | 1–3 | разработка сервисов на Node.js или Go, работа с PostgreSQL и Redis | building services in Node.js or Go | 6
  Python-разработчик / Python developer | 110–280 | у, п | 1–3 | разработка API и обработка данных, тесты | building APIs and data pipelines | 5
  тестировщик / QA engineer | 80–190 | у, п | 0–2 | ручные и автоматические тесты, описание ошибок | manual and automated testing | 4
  DevOps-инженер / DevOps engineer | 150–330 | у, п | 2–3 | поддержка Kubernetes, CI/CD, мониторинг | running Kubernetes, CI/CD and monitoring | 3
  аналитик данных / data analyst | 100–220 | у, п | 1–2 | отчёты на SQL, проверка гипотез, дашборды | reports in SQL, dashboards | 4
  системный администратор / system administrator | 60–120 | п | 1–2 | поддержка пользователей, серверы и сеть | supporting users, servers and network | 5
  дизайнер интерфейсов / UI designer | 90–200 | у, г | 1–2 | макеты в Figma, исследования пользователей | mock-ups in Figma | 3
  # медицина | частная клиника, городская больница, медицинский центр
  медсестра / nurse | 45–85 | с, п | 0–2 | выполнение назначений врача, процедурный кабинет | carrying out doctors' orders | 6
  врач-терапевт / general practitioner | 90–180 | п, с | 1–3 | приём пациентов, ведение карт | seeing patients | 4
  # медицина | стоматология
  стоматолог / dentist | 120–290 | г, с | 2–3 | лечение пациентов, составление планов лечения | treating patients | 3
  # медицина | аптека, аптечная сеть
  фармацевт / pharmacist | 55–95 | с | 0–2 | отпуск лекарств, консультация покупателей | dispensing medicine | 4
  # медицина | городская больница, дом престарелых
  санитарка / hospital attendant | 30–48 | с | 0–0 | уборка палат, помощь пациентам | cleaning wards, helping patients | 3
  # образование | частная школа, языковая школа, учебный центр
  учитель английского языка / English teacher | 45–110 | ч, у, п | 1–2 | проведение уроков, подготовка к экзаменам | teaching English to children and adults | 5
  # образование | детский сад, частный детский сад
  воспитатель / kindergarten teacher | 35–60 | п, с | 0–2 | занятия с детьми, прогулки, утренники | looking after children | 5
  # образование | онлайн-школа, учебный центр
  репетитор по математике / maths tutor | 40–110 | у, ч, г | 1–2 | индивидуальные занятия, подготовка к ЕГЭ | one-to-one lessons | 3
  # образование | агентство нянь, детский центр
  няня / nanny | 45–90 | п, ч | 1–2 | уход за ребёнком, прогулки, развивающие игры | caring for a child | 5
  # бухгалтерия и офис | торговая компания, производственная компания, строительная компания
  бухгалтер / accountant | 55–110 | п, у | 1–3 | первичные документы, отчётность, работа в 1С | primary documents and reports | 7
  офис-менеджер / office manager | 48–80 | п | 0–1 | встреча гостей, закупки для офиса, документы | meeting guests, buying supplies | 5
  оператор колл-центра / call centre operator | 38–70 | у, с | 0–0 | приём звонков, ответы в чате | answering calls and chats | 7
  менеджер по персоналу / recruiter | 55–100 | п, у | 1–2 | подбор сотрудников, собеседования | hiring people | 4
  юрист / lawyer | 70–150 | п | 1–3 | договоры, суды, претензионная работа | contracts and courts | 3
  # бухгалтерия и офис | агентство недвижимости
  риелтор / estate agent | 60–180 | г | 0–1 | показы квартир, сопровождение сделок | showing flats, closing deals | 4
  # красота | салон красоты
  парикмахер / hairdresser | 50–110 | с, г | 1–2 | стрижки и окрашивание, запись клиентов | haircuts and colouring | 5
  мастер маникюра / nail technician | 50–110 | с, г | 0–2 | маникюр и педикюр, стерилизация инструмента | manicure and pedicure | 5
  # красота | барбершоп
  барбер / barber | 60–130 | с | 1–2 | мужские стрижки, оформление бороды | men's haircuts | 3
  # красота | салон красоты, студия маникюра
  администратор салона / receptionist | 40–60 | с | 0–1 | запись клиентов, расчёт, порядок в зале | booking clients | 3
  # производство | завод, мебельная фабрика, пищевое производство
  слесарь / fitter | 60–110 | п, с, в | 1–2 | ремонт и наладка оборудования | repairing machinery | 5
  токарь / lathe operator | 75–150 | с, п | 1–3 | обработка деталей по чертежам | machining parts from drawings | 4
  оператор станка с ЧПУ / CNC operator | 75–150 | с | 1–2 | наладка и работа на станке, контроль размеров | setting up and running a CNC machine | 4
  # производство | швейная фабрика, ателье
  швея / seamstress | 50–90 | п, с | 0–2 | пошив одежды, работа на оверлоке | sewing clothes | 5
  # производство | фабрика, пищевое производство
  упаковщик / packer | 45–80 | с, в | 0–0 | упаковка продукции, маркировка | packing goods | 7
  инженер-технолог / process engineer | 75–140 | п | 1–3 | разработка технологических карт, контроль качества | writing process sheets | 3
  # охрана и уборка | охранное предприятие, торговый центр, гостиница
  охранник / security guard | 35–65 | с, в | 0–1 | пропускной режим, обход территории | access control and rounds | 8
  # охрана и уборка | клининговая компания, торговый центр, бизнес-центр
  уборщица / cleaner | 28–48 | с, ч, п | 0–0 | уборка помещений и лестниц, вынос мусора | cleaning rooms and stairs | 7
  # охрана и уборка | гостиница, отель
  горничная / housemaid | 35–55 | с | 0–0 | уборка номеров, смена белья | cleaning hotel rooms | 5
  # охрана и уборка | управляющая компания
  дворник / street cleaner | 28–45 | п, ч | 0–0 | уборка двора, зимой чистка снега | sweeping the yard | 3
  # автосервис | автосервис, дилерский центр
  автослесарь / car mechanic | 70–150 | с, п | 1–2 | ремонт ходовой и двигателей, диагностика | repairing cars | 6
  # автосервис | автомойка
  автомойщик / car washer | 45–85 | с | 0–0 | мойка кузова, уборка салона | washing cars | 4
  # автосервис | шиномонтаж, автосервис
  шиномонтажник / tyre fitter | 55–110 | с | 0–1 | замена и балансировка колёс | changing tyres | 4
  # автосервис | автосервис, дилерский центр
  автоэлектрик / auto electrician | 80–150 | п, с | 1–3 | диагностика и ремонт электрики | finding and fixing electrical faults | 3
`;

export const PROFESSIONS: readonly Profession[] = parse(lines(TABLE));

function parse(rows: readonly string[]): Profession[] {
  const professions: Profession[] = [];
  let category = '';
  let employers: readonly string[] = [];
  for (const row of rows) {
    if (row.startsWith('# ')) {
      const [name = '', list = ''] = row.slice(2).split(' | ');
      category = name;
      employers = list.split(', ');
      continue;
    }
    const [names = '', pay = '', schedules = '', years = '', duties = '', dutiesEn = '', weight = ''] =
      row.split(' | ');
    const [name = '', english = ''] = names.split(' / ');
    const [from = 0, to = 0] = pay.split('–').map(Number);
    const [least = 0, most = 0] = years.split('–').map(Number);
    professions.push({
      category,
      name,
      english,
      pay: [from, to],
      schedules: schedules.split(', ').map((letter) => SCHEDULES[letter] ?? letter),
      experience: EXPERIENCE.slice(least, most + 1),
      duties: duties.split(', '),
      dutiesEn,
      weight: Number(weight),
      employers,
    });
  }
  return professions;
}
