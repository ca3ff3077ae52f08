import { COLORS, kind } from './kind.ts';

export const INSTRUMENTS = [
  kind({
    category: 'музыкальные инструменты',
    weight: 30,
    gender: 'f',
    wear: 'plain',
    noun: 'гитара',
    english: 'guitar',
    models: `
      Yamaha: F310 акустическая~ямаха 14500 x2; C40 классическая 13000 x2; Pacifica 112V электро 34000
      Fender: Squier Stratocaster электро~фендер 31000; CD-60 акустическая 21000
      Ibanez: GRG170 электро~ибанез 25000
      Cort: AD810 акустическая 13500
      Epiphone: Les Paul электро~эпифон 46000
      -: акустическая 5500 x2; классическая детская 4000; укулеле сопрано 2500
    `,
    slots: {
      extra: 'чехол=a case; каподастр и медиаторы=a capo and picks; тюнер=a tuner; запасные струны=spare strings',
      color: COLORS,
    },
    titles: `
      Гитара $full
      Гитара $full, $extra в подарок
    `,
    about: `
      ~ [Строй держит|Гриф ровный|Струны новые], звучит [глубоко|ярко], в подарок $extra
      ~ [Покупал учиться, не пошло|Играл дома|Ходила на ней в музыкальную школу дочь], трещин нет
      В подарок $extra, [анкер на месте|колки литые]
      [Для начинающих самое то|Размер 4/4], $extra отдам вместе
    `,
    titlesEn: `
      $full guitar
    `,
    aboutEn: `
      ~ Stays in tune, straight neck, comes with $extra
      ~ I bought it to learn and never did
      Comes with $extra, good for a beginner
    `,
  }),
  kind({
    category: 'музыкальные инструменты',
    weight: 14,
    gender: 'n',
    wear: 'plain',
    bulky: true,
    noun: 'пианино',
    english: 'piano',
    models: `
      Yamaha: P-45 цифровое 46000 x2; P-125 цифровое 62000
      Casio: CDP-S110 цифровое 41000; Privia PX-770 62000
      Красный Октябрь: чёрное 12000
      Petrof: кабинетное 90000
      -: старинное 8000 x2
    `,
    slots: { stool: 'банкетка=a stool*1.04; пюпитр=a music stand; наушники=headphones*1.02' },
    titles: `
      Пианино $full
      Пианино $full, $stool в комплекте
    `,
    about: `
      ~ Все клавиши работают, $stool в комплекте, [настройщик приходил весной|звук чистый]
      ~ [Ребёнок окончил музыкальную школу|Стоит без дела, занимает место], [лифт есть|первый этаж|вывоз ваш]
      В комплекте $stool, [размеры пришлю|три педали], [нужны двое грузчиков|вывоз ваш]
    `,
    titlesEn: `
      $full piano
    `,
    aboutEn: `
      All keys work, comes with $stool
      ~ Our child has finished music school
      Comes with $stool, pick-up only
    `,
  }),
];

export const BOOKS = [
  kind({
    category: 'книги',
    weight: 44,
    gender: 'p',
    wear: 'plain',
    noun: 'книги',
    english: 'books',
    models: `
      -: «Гарри Поттер», 7 томов 4500 x2; «Властелин колец» 1800; собрание сочинений Чехова 2500; собрание сочинений Пушкина 2200; «Мастер и Маргарита» 500; детские сказки 700 x2; фантастика, Стругацкие 1500; детективы Агаты Кристи 1200; учебники, 7 класс 900; учебники английского языка 1300 x2; по психологии 900; кулинарные 600; по программированию на Python 1700; комиксы Marvel 1500; манга 1300; «Ведьмак», полный цикл 2400; Стивен Кинг 1400; Достоевский, 10 томов 1900
    `,
    slots: {
      shelf: 'романы=novels; классика=classics; сказки=fairy tales; учебники=textbooks; детективы=detective stories',
      count: '3; 5; 7; 9; 12; 15; 20',
      years: '1978; 1985; 1989; 2008; 2014; 2019; 2022',
    },
    titles: `
      Книги: $model
      Книги: $model, $count шт.
      Книги — $model
    `,
    about: `
      ~ Всего $count книг, издание $years года, [страницы чистые|читались аккуратно|без пометок]
      ~ [Разбираю библиотеку|Освобождаем полки|Прочитаны, пусть порадуют других], [отдам только вместе|можно по одной]
      Книг: $count, издания $years года и новее, [твёрдый переплёт|есть с автографом|обложки целые]
    `,
    titlesEn: `
      $count books: $shelf
      Books, $shelf
    `,
    aboutEn: `
      ~ $count books printed about $years, clean pages, no notes
      Clearing the shelves, sold together [or one by one|only]
      $count books, hard covers
    `,
  }),
];

export const CAMERAS = [
  kind({
    category: 'фототехника',
    weight: 30,
    gender: 'm',
    wear: 'device',
    noun: 'фотоаппарат',
    english: 'camera',
    models: `
      Canon: EOS 600D 17000 x2; EOS 80D 42000; EOS R10 86000; EOS 6D Mark II 72000; PowerShot G7 X Mark III 62000
      Nikon: D3500 33000; D5600 42000; D750 58000; Z50 74000
      Sony: Alpha A6400 78000 x2; Alpha A7 III 110000; ZV-E10 62000; Cyber-shot RX100 VII 82000
      Fujifilm: X-T30 II 84000; X-T4 112000
    `,
    slots: {
      shots: '4000; 7000; 9500; 12 000; 18 000; 26 000',
      bag: 'сумка=a bag; ремень=a strap; вторая батарея=a second battery*1.03; карта памяти=a memory card*1.02',
    },
    titles: `
      Фотоаппарат $full
      $full, пробег $shots кадров
      Камера $full, в комплекте $bag
    `,
    about: `
      ~ Пробег около $shots кадров, матрица чистая, [грибка и пыли нет|стёкла без царапин]
      В комплекте $bag, зарядное устройство, [коробка|документы]
      ~ [Снимал для себя|Брали в путешествия], [в дождь не попадал|хранился в сухом шкафу]
      $bag, [два объектива|китовый объектив], коробка и документы
    `,
    titlesEn: `
      $full camera
      $full with $bag
    `,
    aboutEn: `
      ~ Shutter count about $shots, clean sensor, no fungus or dust
      ~ Comes with a charger and $bag. [A hobby camera|Taken on holidays only]
      $bag and a kit lens included, with documents
    `,
  }),
];

export const CONSOLES = [
  kind({
    category: 'игры и приставки',
    weight: 36,
    gender: 'f',
    wear: 'device',
    noun: 'приставка',
    english: 'game console',
    models: `
      Sony: PlayStation 5~пс5 47000 x3; PlayStation 5 Slim~пс5 слим 52000 x2; PlayStation 4 Pro~пс4 про 24000; PlayStation 4 Slim~пс4 слим 18000 x2; PlayStation 3 Super Slim~пс3 8000
      Microsoft: Xbox Series S~хбокс с 26000 x2; Xbox Series X~хбокс х 46000; Xbox One S~хбокс оне 15000
      Nintendo: Switch OLED~свитч олед 27000 x2; Switch Lite~свитч лайт 15500; Switch~свитч 20000
      Valve: Steam Deck 512~стим дек 44000
    `,
    slots: {
      pads: 'один геймпад=one controller; два геймпада=two controllers*1.08; геймпад и зарядная станция=a controller and a dock*1.06',
      games: '3; 4; 5; 6; 8; 12',
    },
    titles: `
      $full
      Игровая приставка $full
      $full, $pads
      $alias, $pads
    `,
    about: `
      В комплекте $pads, провода, [коробка|подставка]. Дисков отдам $games штук
      ~ Не шумит, не греется, [чистилась в сервисе|пломбы целые], прошивка [последняя|заводская]
      ~ [Играли мало, больше нет времени|Покупали ребёнку, наигрался|Покупал под одну игру]
      ~ На аккаунте есть игры, [помогу войти|подписка ещё действует]
      $pads, [консоль и все провода|кабель HDMI], коробка
      Отдаю вместе $pads и дисков $games шт
    `,
    titlesEn: `
      $full console, $pads
      $full, $games games
    `,
    aboutEn: `
      Comes with $pads, all cables and $games games
      ~ Quiet, never opened. [We just do not have time to play|The kid has lost interest]
      Box, cables, $pads and $games discs
    `,
  }),
];

export const SOUND = [
  kind({
    category: 'аудио и ТВ',
    weight: 42,
    gender: 'p',
    wear: 'device',
    noun: 'наушники',
    english: 'headphones',
    models: `
      Apple: AirPods 2~аирподсы 2 10500 x2; AirPods 3~аирподс 3 15000; AirPods Pro 2~аирподс про 2 20000 x3; AirPods Max~аирподс макс 46000
      Sony: WH-1000XM4~сони xm4 22000 x2; WH-1000XM5~сони xm5 30000; WF-C500~сони вкладыши 6000
      JBL: Tune 510BT~жбл 3900 x2; Live 660NC~жбл 9500; Wave Beam~жбл вкладыши 5000
      Marshall: Major IV~маршалл 10500; Monitor II~маршалл 17500
      Samsung: Galaxy Buds2 Pro~галакси бадс 11000; Galaxy Buds FE~бадс фе 7000
      HyperX: Cloud II~хайперикс 8000; Cloud Stinger~хайперикс стингер 4200
    `,
    slots: { color: 'чёрн{ый/ая/ое/ые}=black; бел{ый/ая/ое/ые}=white; син{ий/яя/ее/ие}=blue', hours: '20; 24; 28; 30' },
    titles: `
      Наушники $full
      $full, $color
      Беспроводные наушники $full
    `,
    about: `
      ~ Звук [чистый, басы есть|отличный], [шумоподавление работает|микрофон хороший], заряда хватает примерно на $hours часов
      ~ [Серийный номер пробивается|Чек и коробка есть]. Амбушюры [чистые|новые]
      ~ Цвет $color:m, [использовались пару месяцев|слушали только дома]
      Цвет $color:m, оригинал, [коробка и кабель|полный комплект]
      Оригинал, [серийный номер на коробке совпадает|чек есть], цвет $color:m
    `,
    titlesEn: `
      $full headphones, $color
      Wireless headphones $full
    `,
    aboutEn: `
      ~ Clear sound, good microphone, about $hours hours on one charge
      ~ Genuine, box [and receipt|and cable] included. [Used for a couple of months|Used at home only]
      Genuine, $color, full set with the box
    `,
  }),
  kind({
    category: 'аудио и ТВ',
    weight: 30,
    gender: 'm',
    wear: 'device',
    bulky: true,
    noun: 'телевизор',
    english: 'TV',
    models: `
      Samsung: UE43AU7100 33000; UE55CU8000 52000; QE55Q60B 66000; UE32T4500 17000
      LG: 43UQ75006 34000; 55UR78006 50000; OLED55C3 115000; 32LM576 17000
      Xiaomi: TV A2 43 25000 x2; TV A2 55 38000 x2; TV P1 50 32000
      Haier: 43 Smart TV MX 27000; 50 Smart TV S3 40000
      TCL: 55P635 37000; 43C635 36000
      Sony: Bravia KD-55X81J 68000
      Hisense: 43A6BG 28000; 65A6BG 56000
    `,
    slots: { bracket: 'на ножках=on its legs; с настенным кронштейном=with a wall bracket*1.04' },
    titles: `
      Телевизор $full
      Телевизор $full, $bracket
      ТВ $full, Smart TV
    `,
    about: `
      Smart TV, Wi-Fi, [YouTube и кинотеатры установлены|голосовой пульт], $bracket
      ~ Экран без царапин и битых пикселей, [пульт родной|два пульта]
      ~ [Стоял на даче, почти не включали|Висел в спальне, смотрели редко|Купили больше диагональю]
      Продаётся $bracket, [пульт и коробка|документы есть], Smart TV и Wi-Fi
      Цифровой тюнер, [три HDMI|два HDMI и USB], $bracket
    `,
    titlesEn: `
      $full Smart TV
      $full television, $bracket
    `,
    aboutEn: `
      Smart TV with Wi-Fi, $bracket, original remote
      ~ No scratches or dead pixels. [We bought a bigger one|Was hardly ever used]
      Remote and documents included, $bracket
    `,
  }),
  kind({
    category: 'аудио и ТВ',
    weight: 18,
    gender: 'f',
    wear: 'device',
    noun: 'колонка',
    english: 'speaker',
    models: `
      JBL: Charge 5~жбл чардж 5 14000 x2; Flip 6~жбл флип 6 10500 x2; Boombox 3~жбл бумбокс 3 38000; Go 3~жбл го 3 3900; PartyBox 110~жбл партибокс 31000
      Яндекс: Станция Мини~алиса мини 6500 x2; Станция 2~алиса 15000; Станция Лайт~алиса лайт 4500; Станция Макс~алиса макс 25000
      Marshall: Emberton II~маршалл эмбертон 15000; Acton III~маршалл эктон 24000
      Sony: SRS-XB13 4500; SRS-XG300 19000
    `,
    slots: { color: COLORS },
    titles: `
      Колонка $full
      $full, $color
      Портативная колонка $full
    `,
    about: `
      ~ Звук громкий и чистый, [басит хорошо|соседи оценили], батарея держит
      ~ [Комплект полный|Есть коробка и кабель], цвет $color:m. Работает без нареканий
      ~ [Брали на природу пару раз|Стояла на кухне], [влаги не боится|не падала]
      Цвет $color:m, [кабель и коробка|чек и коробка], оригинал
      Оригинал, [покупали на официальном сайте|серийный номер есть], цвет $color:m
    `,
    titlesEn: `
      $full speaker, $color
      Portable speaker $full
    `,
    aboutEn: `
      ~ Loud and clean sound, battery holds well
      ~ Box and cable included, [used a few times outdoors|stood in the kitchen], $color
      Genuine, $color, box and cable included
    `,
  }),
];
